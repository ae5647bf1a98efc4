"""A line of text -> a frozen command. The only importer of lark. Pure."""
