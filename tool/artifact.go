package tool

// ArtifactQuery names a part of an artifact.
type ArtifactQuery struct {
	Principal string // set by servers from the connection, never from the request
	Session   string // of the call that made it; empty: the principal's default session
	Handle    string
	Offset    uint64 // where to begin, in bytes
	Limit     int    // how many bytes at most; 0: DefaultArtifactPiece; at most MaxArtifactPiece
}

// The sizes of the pieces in which callers read artifacts, in bytes.
const (
	DefaultArtifactPiece = 64 << 10
	MaxArtifactPiece     = 1 << 20
)
