"""What operators do: mute, ban, announce, answer reports."""
