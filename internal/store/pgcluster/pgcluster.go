// Package pgcluster makes a cluster of PostgreSQL, which is a folder with the data of a server, and
// asks that server.
//
// It owns which programs of this machine do that, and as which user. It does not own the process of
// the server, which its users end in different ways.
package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Superuser is a role and a database of each cluster. The role needs no password.
const Superuser = "postgres"

// ErrNotInstalled says that this machine has no PostgreSQL.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: there is no initdb in the PATH or in /usr/lib/postgresql/*/bin; " +
	"install it, such as with `apt install postgresql`, and repeat the command")

// Cluster is a folder with data, and with the socket of its server. It is safe for concurrent use.
type Cluster struct {
	Folder string
	// Identity is the user of all processes; nil: that of this process. PostgreSQL refuses to run as
	// root.
	Identity *syscall.Credential
	programs string // the folder with those of PostgreSQL
}

// Find returns the folder with PostgreSQL's programs, or ErrNotInstalled.
func Find() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is right
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", ErrNotInstalled
	}
	// A link in the PATH leads to the folder that has all programs.
	initdb, err := filepath.EvalSymlinks(found[len(found)-1])
	if err != nil {
		return "", fmt.Errorf("finding PostgreSQL: %w", err)
	}
	return filepath.Dir(initdb), nil
}

// Make makes a cluster in an empty folder. For root, the folder then belongs to the user nobody,
// who must be able to pass through the folder's parents.
func Make(ctx context.Context, folder string) (*Cluster, error) {
	return build(ctx, folder, "initdb", "-U", Superuser, "-E", "UTF8", "--no-sync", "--auth=trust")
}

// Follow makes a cluster in an empty folder whose server follows that of c, which must run and
// accept replication. The owner of the folder changes as with Make.
func (c *Cluster) Follow(ctx context.Context, folder string) (*Cluster, error) {
	return build(ctx, folder, "pg_basebackup", "-U", Superuser, "-h", c.Folder, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
}

func build(ctx context.Context, folder, program string, args ...string) (*Cluster, error) {
	programs, err := Find()
	if err != nil {
		return nil, err
	}
	c := &Cluster{Folder: folder, programs: programs}
	if os.Geteuid() == 0 {
		const nobody = 65534
		c.Identity = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(folder, nobody, nobody); err != nil {
			return nil, fmt.Errorf("giving PostgreSQL its folder: %w", err)
		}
	}
	out, err := c.Command(ctx, program, append(args, "-D", c.Data())...).CombinedOutput()
	if err != nil && c.Identity != nil {
		err = fmt.Errorf("%w, as the user nobody because PostgreSQL refuses root; set TMPDIR to a folder that every user can pass through", err)
	}
	if err != nil {
		return nil, fmt.Errorf("making a database in %s: %w\n%s", folder, err, out)
	}
	return c, nil
}

// Data returns the folder with the data.
func (c *Cluster) Data() string { return filepath.Join(c.Folder, "data") }

// URL returns the URL of a database for the superuser, as toolhost.yaml has it.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", Superuser, database, url.QueryEscape(c.Folder))
}

// Command returns a command of a program of PostgreSQL.
func (c *Cluster) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, program), args...)
	cmd.Dir, cmd.Env = c.Folder, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + c.Folder}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.Identity}
	return cmd
}

// Server returns the command of the server. It listens at a socket in the folder, and, unless the
// settings say so, at no port. Its files need not reach the disk, because a process that is killed
// loses nothing that it has written.
func (c *Cluster) Server(settings ...string) *exec.Cmd {
	args := []string{"-D", c.Data(), "-k", c.Folder}
	for _, setting := range append([]string{"listen_addresses=", "fsync=off"}, settings...) {
		args = append(args, "-c", setting)
	}
	return c.Command(context.Background(), "postgres", args...)
}

// The separators of psql's output. No data that is asked for has them.
const (
	endOfField = "\x1f"
	endOfRow   = "\x1e"
)

// Query runs SQL with psql, so that this module requires no driver. It returns the rows of the last
// statement.
func (c *Cluster) Query(ctx context.Context, database, role, password, sql string) ([][]string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, "psql"), "--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only",
		"--field-separator="+endOfField, "--record-separator="+endOfRow, "--set=ON_ERROR_STOP=1", "--set=SHOW_ALL_RESULTS=off",
		"--command="+sql, fmt.Sprintf("host=%s dbname=%s sslmode=disable user=%s", c.Folder, database, role))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "PGPASSWORD=" + password, "PGPASSFILE=/dev/null"}
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(failure.String()))
	}
	text, some := strings.CutSuffix(out.String(), "\n")
	if !some {
		return nil, nil
	}
	var rows [][]string
	for row := range strings.SplitSeq(text, endOfRow) {
		rows = append(rows, strings.Split(row, endOfField))
	}
	return rows, nil
}
