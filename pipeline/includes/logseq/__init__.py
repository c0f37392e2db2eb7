"""What notes of Logseq hold for Logseq itself."""
