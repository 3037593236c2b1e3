package docs

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// setUp is the result of an SDK's setup script: the path where the SDK is ready, or one line that
// says what is missing.
type setUp struct{ ready, missing string }

// setUps contains a function for each SDK that runs its setup once for all pages.
var setUps = map[string]func() setUp{
	"python":     sync.OnceValue(func() setUp { return setUpSDK("python") }),
	"typescript": sync.OnceValue(func() setUp { return setUpSDK("typescript") }),
}

func setUpSDK(language string) setUp {
	cmd := exec.CommandContext(context.Background(), filepath.Join("../../../../sdk", language, "scripts", "check.sh"), "setup")
	var said strings.Builder
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil || len(printed) == 0 {
		return setUp{missing: lastLine(said.String())}
	}
	return setUp{ready: strings.TrimSpace(string(printed))}
}

// needs skips the test if the machine lacks what the SDK of the language requires.
func needs(t *testing.T, language string) {
	t.Helper()
	if find := setUps[language]; find != nil && find().ready == "" {
		t.Skipf("the page is not tested: %s", find().missing)
	}
}

// lock blocks until it holds an exclusive lock of the file. The kernel releases the lock when its
// holder dies.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	file, err := filelock.Create(path)
	if err == nil {
		err = filelock.Lock(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}
