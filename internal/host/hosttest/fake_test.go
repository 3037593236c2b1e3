package hosttest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/host/hosttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakeConforms(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host {
		f := hosttest.NewFake(hosttest.Tools()...)
		t.Cleanup(f.Close)
		return f
	})
}
