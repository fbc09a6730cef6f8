"""What happens before a command works: its call is read, without click where it is plain."""
