package prove

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/store/pgcluster"
	"github.com/toolhost/toolhost/server/internal/terminal/child"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// databaseStart bounds the start of PostgreSQL, which reads its log again after a crash.
const databaseStart = 60 * time.Second

// database is a PostgreSQL server of this command, in a folder of its own and on a socket there. It
// is not safe for concurrent use.
type database struct {
	cluster *pgcluster.Cluster
	server  *child.Child // nil: it does not run
}

// openDatabase makes the database in a folder that does not exist, and starts its server. The
// caller must call stop. PostgreSQL refuses to run as root, so root runs it as the user nobody, who
// must be able to pass through the folder's parents.
func openDatabase(ctx context.Context, folder string) (*database, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := os.Chmod(filepath.Dir(folder), 0o711); err != nil {
			return nil, fmt.Errorf("letting PostgreSQL pass to its folder: %w", err)
		}
	}
	cluster, err := pgcluster.Make(ctx, folder)
	if err != nil {
		return nil, err
	}
	d := &database{cluster: cluster}
	return d, d.start(ctx)
}

// url returns the URL of the database, as toolhost.yaml has it.
func (d *database) url() string { return d.cluster.URL(pgcluster.Superuser) }

// do runs SQL.
func (d *database) do(ctx context.Context, sql string) error {
	if _, err := d.cluster.Query(ctx, pgcluster.Superuser, pgcluster.Superuser, "", sql); err != nil {
		return fmt.Errorf("asking the database: %w", err)
	}
	return nil
}

// start starts the server, and waits until it accepts sessions.
func (d *database) start(ctx context.Context) (err error) {
	if d.server, err = child.Launch(d.cluster.Server("max_connections=200")); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, databaseStart)
	defer cancel()
	for {
		err := d.do(bounded, "SELECT 1")
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
	return d.do(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
}
