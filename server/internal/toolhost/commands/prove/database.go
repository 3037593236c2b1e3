package prove

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/child"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// databaseStart bounds the start of PostgreSQL, which reads its log again after a crash.
	databaseStart = 60 * time.Second
	// databaseUser is the role and the database that initdb makes.
	databaseUser = "postgres"
)

var errNoPostgres = errors.New("PostgreSQL is not installed: there is no initdb in the PATH or in /usr/lib/postgresql/*/bin; " +
	"install it, such as with `apt install postgresql`, and repeat the command")

// database is a PostgreSQL server of this command, in a folder of its own and on a socket there. It
// is not safe for concurrent use.
type database struct {
	folder   string
	programs string              // the folder with those of PostgreSQL
	identity *syscall.Credential // nil: that of this process
	server   *child.Child        // nil: it does not run
}

// openDatabase makes the database in a folder that does not exist, and starts its server. The
// caller must call stop. PostgreSQL refuses to run as root, so root runs it as the user nobody, who
// must be able to pass through the folder's parents.
func openDatabase(ctx context.Context, folder string) (*database, error) {
	programs, err := findPostgres()
	if err != nil {
		return nil, err
	}
	d := &database{folder: folder, programs: programs}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		const nobody = 65534
		d.identity = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := errors.Join(os.Chown(folder, nobody, nobody), os.Chmod(filepath.Dir(folder), 0o711)); err != nil {
			return nil, fmt.Errorf("giving PostgreSQL its folder: %w", err)
		}
	}
	if out, err := d.run(ctx, "initdb", "-D", d.data(), "-U", databaseUser, "-E", "UTF8", "--no-sync", "--auth=trust"); err != nil {
		if d.identity != nil {
			err = fmt.Errorf("%w, as the user nobody because PostgreSQL refuses root; set TMPDIR to a folder that every user can pass through", err)
		}
		return nil, fmt.Errorf("making a database in %s: %w\n%s", folder, err, out)
	}
	return d, d.start(ctx)
}

// findPostgres returns the folder with PostgreSQL's programs. A link in the PATH leads to it.
func findPostgres() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is right
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errNoPostgres
	}
	initdb, err := filepath.EvalSymlinks(found[len(found)-1])
	if err != nil {
		return "", fmt.Errorf("finding PostgreSQL: %w", err)
	}
	return filepath.Dir(initdb), nil
}

func (d *database) data() string { return filepath.Join(d.folder, "data") }

// url returns the URL of the database, as toolhost.yaml has it.
func (d *database) url() string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", databaseUser, databaseUser, url.QueryEscape(d.folder))
}

func (d *database) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(d.programs, program), args...)
	cmd.Dir, cmd.Env = d.folder, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + d.folder, "PGPASSFILE=/dev/null"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.identity}
	return cmd
}

func (d *database) run(ctx context.Context, program string, args ...string) (string, error) {
	out, err := d.command(ctx, program, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// do runs SQL, and returns what it returns.
func (d *database) do(ctx context.Context, sql string) (string, error) {
	out, err := d.run(ctx, "psql", "--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only", "-v", "ON_ERROR_STOP=1",
		"-h", d.folder, "-U", databaseUser, "-c", sql, databaseUser)
	if err != nil {
		return "", fmt.Errorf("asking the database: %w: %s", err, cli.OneLine(out))
	}
	return out, nil
}

// start starts the server, and waits until it accepts sessions. Its files need not reach the disk,
// because a process that is killed loses nothing that it has written.
func (d *database) start(ctx context.Context) (err error) {
	d.server, err = child.Launch(d.command(context.WithoutCancel(ctx), "postgres", "-D", d.data(), "-k", d.folder,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"))
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, databaseStart)
	defer cancel()
	for {
		_, err := d.do(bounded, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-d.server.Ended():
			return fmt.Errorf("PostgreSQL ended at once: %w\n%s", d.server.Err(), d.server.LastWords())
		default:
		}
		if !cli.Wait(bounded, poll) {
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, d.server.LastWords())
		}
	}
}

// stop ends the server with a signal, and waits for its end: SIGINT ends the sessions and writes
// everything, and SIGQUIT is a crash.
func (d *database) stop(signal syscall.Signal) {
	if d.server != nil {
		d.server.Signal(signal)
		<-d.server.Ended()
		d.server = nil
	}
}

// cut ends all sessions.
func (d *database) cut(ctx context.Context) error {
	_, err := d.do(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	return err
}
