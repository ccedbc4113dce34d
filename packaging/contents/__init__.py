"""What a release consists of, and how it is put into archives whose bytes depend on nothing but their contents."""
