package client

import (
	"os"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/tool"
)

// DialOption changes how a server is connected to. The zero value changes nothing.
type DialOption struct{ own bool }

// OwnServer says that the address was not chosen by a person, but is where this user's own server should be. Then a server of
// another user is refused, and so is a socket in a folder that another user owns or can write: another user may have made the
// folder first. Servers of root are not refused. For TCP it changes nothing.
func OwnServer() DialOption { return DialOption{own: true} }

// find returns the address of a program's server.
func find(addr, program string, options []DialOption) (address.Address, error) {
	at, err := address.Find(addr, program, os.Getenv)
	if err != nil {
		return at, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	for _, option := range options {
		if option.own {
			at = at.Own()
		}
	}
	return at, nil
}
