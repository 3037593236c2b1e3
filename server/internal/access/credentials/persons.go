package credentials

import (
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// SamePerson returns the warnings of authconfig.SamePerson, with the tokens of a program in a state
// folder that are valid. Only the user of the server can read them: for others, the tokens are no
// evidence.
func SamePerson(program, state string, auth *authconfig.Auth) []string {
	var holders []identity.Principal
	tokens := tokenstore.New(program, state)
	defer tokens.Close()
	records, _ := tokens.List()
	for i := range records {
		if records[i].State(time.Now()) == "valid" {
			holders = append(holders, records[i].Principal())
		}
	}
	return authconfig.SamePerson(auth, holders)
}
