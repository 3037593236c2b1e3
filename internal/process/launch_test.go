package process_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/pluginwire"
)

func TestLaunchCallStop(t *testing.T) {
	cfg, _ := setup(t)
	before := time.Now()
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
	if p.PID() <= 1 || p.StartTime().Before(before) {
		t.Errorf("pid %d, started %v", p.PID(), p.StartTime())
	}
	if size, err := p.RSS(); err != nil || size < 1<<20 {
		t.Errorf("RSS = %d, %v; want more than 1 MiB", size, err)
	}
	d, err := p.Conn().Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil || d.Name != "fault" {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if exit := p.Exit(); exit.Code != 0 || exit.Signal != "" || exit.Reason != "toolhost stopped it" {
		t.Errorf("exit %+v, want a gentle end", exit)
	}
}
