package cli

import (
	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
)

// DialOptions returns how a client connects to an address that address.Find found: with more care where no user chose it.
func DialOptions(at address.Address) []client.DialOption {
	if at.IsOwn() {
		return []client.DialOption{client.OwnServer()}
	}
	return nil
}
