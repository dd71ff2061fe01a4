"""Files on disk: reading what people and agents wrote, writing what we owe them."""
