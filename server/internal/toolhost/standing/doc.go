// Package standing has standing approvals: which calls one approves, and the file that keeps them.
// docs/adr/0037-standing-approvals.md describes the design.
//
// The package owns the patterns of arguments and their match, the file approvals.db, and the bounds
// of the number of approvals. It does not decide who may create an approval, when one is asked for,
// or what the audit log says; server/internal/toolhost/host does.
package standing
