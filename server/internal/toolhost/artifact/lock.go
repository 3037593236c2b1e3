package artifact

import (
	"errors"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// lockFolder locks the folder against other stores, since a store assumes that its index has all
// files. The system releases the lock when the process ends.
func lockFolder(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := filelock.Try(file); err != nil {
		file.Close()
		if errors.Is(err, filelock.ErrHeld) {
			return nil, errors.New("the folder is in use by another toolhost; stop that one, or choose another state folder")
		}
		return nil, fmt.Errorf("locking: %w", err)
	}
	return file, nil
}
