package auditlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

// maxNoted bounds the lines that are compared, one of each start of toolhost, the newest first.
const maxNoted = 100

// notedHeads returns the ends of the audit log of this state folder that the database has noted;
// none if toolhost uses no database.
func notedHeads(ctx context.Context, state serve.StateFiles) (heads []audit.Head, err error) {
	if state.Records == "" {
		return nil, nil
	}
	id, err := os.ReadFile(filepath.Join(state.State, serve.NodeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has not used the database yet
	}
	if err != nil {
		return nil, err
	}
	nodes, err := ledger.Nodes(ctx, postgres.Config{URL: state.Records})
	if err != nil {
		return nil, err
	}
	return headsOf(nodes, strings.TrimSpace(string(id)))
}

// headsOf returns the ends that nodes of a state folder have noted.
func headsOf(nodes []ledger.Listed, folder string) (heads []audit.Head, err error) {
	for _, n := range nodes {
		if n.Folder != folder || n.Audited == "" || len(heads) == maxNoted {
			continue
		}
		found, err := parseHeads([]string{n.Audited})
		if err != nil {
			return nil, fmt.Errorf("the node %s has noted %q, which is no line of a log", n.ID, cli.OneLine(n.Audited))
		}
		heads = append(heads, found...)
	}
	return heads, nil
}

// verify verifies the files, which must have the expected lines. They must also have the noted
// ones, but for those of files that rotation has removed. It returns those that it has compared.
func verify(files []string, expected, noted []audit.Head) (found audit.Report, compared []audit.Head, err error) {
	found, err = audit.Verify(files, slices.Concat(expected, noted)...)
	if err != nil {
		return found, nil, err
	}
	compared = slices.DeleteFunc(slices.Clone(noted), func(h audit.Head) bool { return h.Seq < found.First })
	if len(compared) < len(noted) {
		found, err = audit.Verify(files, slices.Concat(expected, compared)...)
	}
	return found, compared, err
}
