package trust

// Folder holds.
type Folder struct{}
