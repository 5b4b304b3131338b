"""What model files say before anything is loaded: headers, flags, sizes."""
