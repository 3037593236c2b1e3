package cli

import (
	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
)

// DialOptions returns the options for an address that address.Find returned. If the user did not
// choose the address, the client checks that the server belongs to this user.
func DialOptions(at address.Address) []client.DialOption {
	if at.IsOwn() {
		return []client.DialOption{client.OwnServer()}
	}
	return nil
}
