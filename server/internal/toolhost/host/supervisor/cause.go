package supervisor

import "github.com/toolhost/toolhost/tool"

// cause is why a revision takes over.
type cause string

const (
	offered    cause = "offered"     // the catalog found it; it must still be a candidate
	ordered    cause = "ordered"     // an operator wants what the file holds
	rolledBack cause = "rolled back" // an operator wants the previous revision
)

// noun returns what operators call a takeover for the cause.
func (c cause) noun() string {
	if c == rolledBack {
		return "rollback"
	}
	return "upgrade"
}

// causes are the causes of revisions in the catalog.
var causes = map[cause]tool.RevisionCause{ordered: tool.RevisionUpgraded, rolledBack: tool.RevisionRolledBack}

// order is why a revision takes over.
type order struct {
	why        cause
	revision   uint64 // see takeoverKey
	by, reason string // see catalog.Order
}
