package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

var accesses = pairs(map[tool.Access]toolv1.Access{
	tool.AccessNone:  toolv1.Access_ACCESS_NONE,
	tool.AccessRead:  toolv1.Access_ACCESS_READ,
	tool.AccessWrite: toolv1.Access_ACCESS_WRITE,
})

// FromAccess converts what may be done with files.
func FromAccess(a tool.Access) toolv1.Access { return accesses.from(a) }

// ToAccess converts what may be done with files. What is not known is not said.
func ToAccess(a toolv1.Access) tool.Access { return accesses.to(a, "") }

// FromPermissions converts what a plugin asks to be allowed; nil if that is nothing.
func FromPermissions(p tool.Permissions) *toolv1.Permissions {
	if p.IsZero() {
		return nil
	}
	return &toolv1.Permissions{
		Network: p.Network, Workspace: FromAccess(p.Workspace), Read: validTexts(p.Read), Write: validTexts(p.Write),
	}
}

// ToPermissions converts what a plugin asks to be allowed.
func ToPermissions(p *toolv1.Permissions) tool.Permissions {
	return tool.Permissions{Network: p.GetNetwork(), Workspace: ToAccess(p.GetWorkspace()), Read: p.GetRead(), Write: p.GetWrite()}
}
