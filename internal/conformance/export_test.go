package conformance

// CheckIDs returns the ids of all checks.
func CheckIDs() []string {
	var ids []string
	for _, d := range definitions() {
		ids = append(ids, d.id)
	}
	return ids
}
