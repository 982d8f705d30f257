"""What crosses a wall: frozen models without behaviour beyond their own validity."""
