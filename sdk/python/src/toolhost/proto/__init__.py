"""The messages and stubs of toolhost's contracts, as protoc generates them from proto/.

The rest of this package is made of them and hides them. Where it does not say what you need, use them: the comments in
the .proto files are their documentation.
"""
