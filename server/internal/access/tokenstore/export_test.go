package tokenstore

// Rechecked appends the right checksum to a token without one.
func Rechecked(body string) string { return body + checksum(body) }
