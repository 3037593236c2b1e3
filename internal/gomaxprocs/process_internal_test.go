package gomaxprocs

import (
	"runtime"
	"sync"
	"testing"
)

func nothing(string) string { return "" }

// With the real runtime and kernel, an idle process is reduced to one processor, and has all
// processors again after Close.
func TestGovern(t *testing.T) {
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.SetDefaultGOMAXPROCS()
	most := runtime.GOMAXPROCS(0)
	s, one := processSystem(), make(chan struct{}, 1)
	limit := s.limit
	s.limit = func(n int) {
		limit(n)
		if runtime.GOMAXPROCS(0) == 1 {
			select {
			case one <- struct{}{}:
			default:
			}
		}
	}
	g := govern(s)
	if most > 1 {
		<-one
	}
	g.Work()
	g.Hold()()
	g.Close()
	if got := runtime.GOMAXPROCS(0); got != most {
		t.Errorf("in the end it has %d processors, want %d", got, most)
	}
	Govern(nothing).Close()
	if got := runtime.GOMAXPROCS(0); got != most {
		t.Errorf("governed for a moment, it has %d processors, want %d", got, most)
	}
}

func TestGovernLeavesAloneWhatIsChosen(t *testing.T) {
	defer runtime.SetDefaultGOMAXPROCS()
	var none *Governor
	none.Work()
	none.Hold()()
	none.Close()

	if g := Govern(func(name string) string { return map[string]string{"GOMAXPROCS": "3"}[name] }); g != nil {
		g.Close()
		t.Error("GOMAXPROCS is set, and it governs")
	}
	runtime.GOMAXPROCS(largestMeasured + 1)
	if g := Govern(nothing); g != nil {
		g.Close()
		t.Error("it governs on a machine that is larger than those that were measured")
	}
	chosen := 2
	runtime.SetDefaultGOMAXPROCS()
	if runtime.GOMAXPROCS(0) == chosen {
		chosen = 3
	}
	runtime.GOMAXPROCS(chosen)
	if g := Govern(nothing); g != nil {
		g.Close()
		t.Error("a number was chosen, and it governs")
	}
	if got := runtime.GOMAXPROCS(0); got != chosen {
		t.Errorf("the number that was chosen is %d now", got)
	}
}

// The values from the runtime and the kernel grow with the work.
func TestReadings(t *testing.T) {
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.GOMAXPROCS(1)
	var w waiting
	waited, spare := w.read(), spareTime()
	before, ok := processUsage()
	if !ok {
		t.Fatal("it is not known what the process uses")
	}
	var crowd sync.WaitGroup
	for w.read() == waited {
		for range 16 {
			crowd.Go(func() {
				for range 100 {
					runtime.Gosched()
				}
			})
		}
		crowd.Wait()
	}
	if after, _ := processUsage(); after.cpu <= before.cpu || after.disks < before.disks {
		t.Errorf("it used %v, and later %v", before, after)
	}
	if now := spareTime(); now < spare {
		t.Errorf("%v were spare, and later %v", spare, now)
	}
}
