package main

import (
	"context"
	"crypto/rand"

	"github.com/toolhost/toolhost/sdk"
)

// drafter serves one call of versionplugin_draft. It reports the text that has arrived so far. When
// the arguments are complete it does what versionplugin_write does. Each drafter has a random name,
// which is in its statuses and in its result. So a test can check that one object served the whole
// call.
type drafter struct {
	stamp *stamp
	name  string
}

func (s *stamp) openDrafter(context.Context) (*drafter, error) {
	return &drafter{stamp: s, name: rand.Text()}, nil
}

// Partial reports the name and the text that has arrived.
func (d *drafter) Partial(ctx context.Context, soFar line) {
	sdk.ReportStatus(ctx, sdk.Status{Message: d.name + " " + soFar.Text})
}

// Call adds the line.
func (d *drafter) Call(ctx context.Context, in line) (string, error) {
	if _, err := d.stamp.write(ctx, in); err != nil {
		return "", err
	}
	return d.name, nil
}
