//go:build unix && !linux

package process

import "time"

const boostFor = 250 * time.Millisecond

// boost does nothing: sessions have no nice value here.
type boost struct{}

func (*boost) begin(int)          {}
func (*boost) beginElsewhere(int) {}
func (*boost) end()               {}
