package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// chatsFile is the file of the state folder that has the newest chat of each folder.
	chatsFile = "agentd-chats.json"
	// maxChats bounds the file. The chats of the folders that were used last stay.
	maxChats = 200
	// maxChatsBytes bounds what is read of it. An entry has paths and an id.
	maxChatsBytes = 4 << 20
)

// newestChat is the newest chat of a principal in a folder, with the runs of one place.
type newestChat struct {
	Folder    string `json:"folder"`
	Principal string `json:"principal"`
	Place     string `json:"place"` // the journal, or the flags that name the server
	RunID     string `json:"run_id"`
}

// isOf reports whether c and other are chats of the same folder, principal and place.
func (c newestChat) isOf(other newestChat) bool {
	c.RunID = other.RunID
	return c == other
}

// newest returns the key of the chats that --continue chooses from, without a run.
func (c *chat) newest() (newestChat, error) {
	folder, err := os.Getwd()
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return newestChat{}, fmt.Errorf("finding the current folder: %w", err)
	}
	key := newestChat{Folder: folder, Principal: ownPrincipal(), Place: c.task.server.flags()}
	if key.Place == "" {
		if key.Place, err = c.setup.place().database(); err == nil && key.Place == "" {
			key.Place, err = c.setup.place().journalPath()
		}
	}
	return key, err
}

func (s *setup) chatsPath() string { return filepath.Join(s.stateFolder(), chatsFile) }

// readChats returns the newest chats, the newest first. Without a file, there are none.
func readChats(path string) ([]newestChat, error) {
	data, err := readUpTo(path, maxChatsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var chats []newestChat
	if err == nil {
		err = json.Unmarshal(data, &chats)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the newest chats in %s: %w", path, err)
	}
	return chats, nil
}

// newestRun returns the run of the newest chat of the current folder.
func (c *chat) newestRun() (string, error) {
	key, err := c.newest()
	if err != nil {
		return "", err
	}
	chats, err := readChats(c.setup.chatsPath())
	if err != nil {
		return "", fmt.Errorf("%w; name the run instead: `agentd runs` lists them", err)
	}
	i := slices.IndexFunc(chats, key.isOf)
	if i < 0 {
		return "", cli.Usage("--continue: there is no chat of the folder %s yet; begin one without the flag, or name a run of `agentd runs`", key.Folder)
	}
	return chats[i].RunID, nil
}

// remember makes the run of the conversation the newest chat of the current folder. Two chats that
// begin at the same moment may forget the one of another folder.
func (c *chat) remember() error {
	key, err := c.newest()
	if err != nil {
		return err
	}
	path := c.setup.chatsPath()
	chats, err := readChats(path)
	if err != nil {
		chats = nil // what cannot be read is of no use to anybody
	}
	if key.RunID = c.run.id; len(chats) > 0 && chats[0] == key {
		return nil
	}
	chats = slices.Insert(slices.DeleteFunc(chats, key.isOf), 0, key)
	data, err := json.MarshalIndent(chats[:min(len(chats), maxChats)], "", " ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), atomicfile.Write(path, data, 0o600))
}
