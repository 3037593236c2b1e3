"""The code that protoc generates from proto/. It is private, and the public modules hide it."""
