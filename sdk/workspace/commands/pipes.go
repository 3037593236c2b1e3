package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// pipe is one pipe. A closed end is nil.
type pipe struct{ r, w *os.File }

// pipes connect the plugin with a supervisor and its command.
type pipes struct {
	orders, report, stdout, stderr pipe
}

func openPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*pipe{&p.orders, &p.report, &p.stdout, &p.stderr} {
		var err error
		if one.r, one.w, err = os.Pipe(); err != nil {
			p.close()
			return nil, fmt.Errorf("making a pipe: %w", err)
		}
	}
	return p, nil
}

// closeChild closes the supervisor's ends in this process. They are then closed when the supervisor
// and its command have ended.
func (p *pipes) closeChild() {
	for _, end := range []**os.File{&p.orders.r, &p.report.w, &p.stdout.w, &p.stderr.w} {
		closeOnce(end)
	}
}

func (p *pipes) close() {
	for _, one := range []*pipe{&p.orders, &p.report, &p.stdout, &p.stderr} {
		closeOnce(&one.r)
		closeOnce(&one.w)
	}
}

func closeOnce(end **os.File) {
	if *end != nil {
		_ = (*end).Close() // closing a pipe loses no data
		*end = nil
	}
}

// readReport returns the report of a supervisor that has ended. The command has no access to this
// pipe.
func (p *pipes) readReport() (report, error) {
	_ = p.report.r.SetReadDeadline(time.Now().Add(drain))
	var r report
	if err := json.NewDecoder(p.report.r).Decode(&r); err != nil {
		return report{}, errLost
	}
	return r, nil
}
