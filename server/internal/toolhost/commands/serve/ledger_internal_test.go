package serve

import (
	"os"
	"testing"
)

// A number that falls is synced before anything else depends on it.
func TestANumberThatFallsIsSynced(t *testing.T) {
	file, err := os.OpenFile(os.DevNull, os.O_RDWR, 0) // takes writes, and refuses a sync
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Sync() == nil {
		t.Skip("this system can sync the file")
	}
	for number, fails := range map[int64]bool{4: true, 5: false, 6: false} {
		noted := newestCall{file: file, number: 5}
		if err := noted.replace(number); (err != nil) != fails {
			t.Errorf("from 5 to %d: %v", number, err)
		}
	}
}
