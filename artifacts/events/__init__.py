"""What people searched for and opened, as a service records it: one file of lines a day."""
