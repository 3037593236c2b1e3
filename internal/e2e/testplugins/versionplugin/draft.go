package main

import (
	"context"
	"crypto/rand"

	"github.com/toolhost/toolhost/sdk"
)

// drafter serves one call of versionplugin_draft: it shows what has been written so far, and in the
// end does what versionplugin_write does. Its name, which nobody can guess, is in both, so that it
// shows whether one object saw all of the call.
type drafter struct {
	stamp *stamp
	name  string
}

func (s *stamp) openDrafter(context.Context) (*drafter, error) {
	return &drafter{stamp: s, name: rand.Text()}, nil
}

// Partial reports the name and the text that has arrived.
func (d *drafter) Partial(ctx context.Context, soFar line) {
	sdk.ReportStatus(ctx, sdk.Status{Tip: d.name + " " + soFar.Text})
}

// Call adds the line.
func (d *drafter) Call(ctx context.Context, in line) (string, error) {
	if _, err := d.stamp.write(ctx, in); err != nil {
		return "", err
	}
	return d.name, nil
}
