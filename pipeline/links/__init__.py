"""Links between documents and the words that they are made with."""
