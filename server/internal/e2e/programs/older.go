package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An edit replaces a text in a source file, which has it once.
type edit struct{ file, text, with string }

// A statement that each call or each turn needs may use what the last step of the migrations adds.
// Then the program of before has the statement of before.
var older = map[string][]edit{
	"./cmd/toolhost": {
		{file: "toolhost/callstore/postgres/schema.go"},
		{"toolhost/callstore/postgres/former.go", `"UPDATE toolhost_ledger SET "+keep+rename`, `"UPDATE toolhost_ledger SET "+rename`},
		{"toolhost/callstore/postgres/former.go", "	const keep = ", "	const _ = "},
	},
	"./cmd/agentd": {
		{file: "agentd/runstore/postgres/schema.go"},
		{"agentd/runstore/postgres/append.go", " works = @works,", ""},
		{"agentd/runstore/postgres/append.go", "claimer, works)", "claimer)"},
		{"agentd/runstore/postgres/append.go", "@claimer, @works\n", "@claimer\n"},
		{"agentd/runstore/postgres/takeover.go", "CASE abs(runs.works) WHEN runs.last_seq THEN runs.works > 0 ELSE runs.decisions IS NULL END", "runs.decisions IS NULL"},
	},
}

// BuildOlder builds ./cmd/toolhost or ./cmd/agentd, or both, like BuildOverlaid, as they are today
// but without the last step of the migrations of the ledger or of the runs.
func BuildOlder(ctx context.Context, dir string, packages ...string) (err error) {
	b, err := prepare(ctx)
	if err != nil {
		return err
	}
	sources, err := os.MkdirTemp("", "toolhost-older-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(sources)) }()
	replaced := map[string]string{}
	for _, name := range packages {
		for _, e := range older[name] {
			path := filepath.Join(b.root, "server", "internal", e.file)
			if replaced[path] == "" {
				replaced[path] = filepath.Join(sources, fmt.Sprint(len(replaced), ".go"))
				if err := copyProgram(path, replaced[path]); err != nil {
					return err
				}
			}
			if err := e.apply(replaced[path]); err != nil {
				return err
			}
		}
	}
	overlay := filepath.Join(sources, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		return err
	}
	return b.build(ctx, dir, packages, "-overlay", overlay)
}

// apply changes a copy of the file. Without a text, it removes the last step of the migrations.
func (e edit) apply(copied string) error {
	text, err := os.ReadFile(copied)
	if err != nil {
		return err
	}
	before := string(text)
	if e.text == "" {
		const step, end = "`}, {SQL: `", "`}}}\n}\n"
		last := strings.LastIndex(before, step)
		if last < 0 || !strings.HasSuffix(before, end) {
			return fmt.Errorf("%s has no steps between %q and %q any more; say where they are", e.file, step, end)
		}
		e.text, e.with = before[last:], end
	}
	if strings.Count(before, e.text) != 1 {
		return fmt.Errorf("%s does not have the text %q once; say what the program of before had", e.file, e.text)
	}
	return os.WriteFile(copied, []byte(strings.Replace(before, e.text, e.with, 1)), 0o600)
}
