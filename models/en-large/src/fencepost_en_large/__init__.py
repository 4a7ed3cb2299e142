"""The folder ``en-large`` beside this file is a model of fencepost, which finds it without importing this package."""
