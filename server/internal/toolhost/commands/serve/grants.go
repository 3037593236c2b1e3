package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/grants"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
)

// openGrants opens the tokens and standing approvals in the database of the ledger.
func openGrants(ctx context.Context, address string, logger *slog.Logger) (*grants.Store, error) {
	return grants.Open(ctx, grants.Config{Database: database.Config{URL: address}, Log: logger})
}

// checkNoGrantsInFiles returns an error if there are tokens or standing approvals in files. To read
// them into the database could make one valid again at all toolhosts that was revoked there: a file
// may be a copy. To leave them out silently would surprise those who use them.
func checkNoGrantsInFiles(ctx context.Context, options *Options) error {
	tokens := tokenstore.Path(cli.Toolhost, options.State)
	if _, err := os.Lstat(tokens); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the tokens in %s would be refused from now on, because those in the database of records are used instead; create the tokens that are needed with `toolhost token create`, "+
			"and move the file away", tokens)
	}
	approvals := filepath.Join(options.recordsDir(), standing.File)
	count, err := standing.Count(ctx, approvals)
	if err != nil {
		return fmt.Errorf("looking for standing approvals in %s: %w; move the file away if it is not needed, and persons are asked again", approvals, err)
	}
	if count > 0 {
		return fmt.Errorf("%s in %s would not be used from now on, because those in the database of records are used instead; move the file away, and persons are asked again",
			cli.Count(count, "standing approval"), approvals)
	}
	return nil
}

// tokens returns the tokens of toolhost. The caller closes them, and before the records.
func (r *records) tokens(state string) *tokenstore.Store {
	if r.grants != nil {
		return tokenstore.NewShared(cli.Toolhost, r.grants.Tokens())
	}
	return tokenstore.New(cli.Toolhost, state)
}
