"""What both clients can be asked, a file for each kind of object."""
