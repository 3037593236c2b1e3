package artifact

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Read returns at most limit bytes of an artifact from an offset on. It returns less only at the
// end of the artifact, and nothing beyond the end. It blocks for the disk. The error is not_found
// if the artifact is not the owner's or was removed; its message is for the holder of the handle.
func (s *Store) Read(owner Owner, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	e, err := s.find(owner, handle)
	if err != nil {
		return tool.ArtifactPiece{}, err
	}
	piece := tool.ArtifactPiece{MediaType: e.MediaType, Name: e.Name, Size: uint64(e.Size)}
	if offset >= piece.Size || limit <= 0 {
		return piece, nil
	}
	file, failure := s.root.Open(handle)
	if errors.Is(failure, fs.ErrNotExist) {
		return tool.ArtifactPiece{}, s.unknown(handle)
	}
	if failure == nil {
		defer file.Close()
		piece.Data = make([]byte, min(uint64(limit), piece.Size-offset))
		_, failure = file.ReadAt(piece.Data, e.begin+int64(offset))
		if errors.Is(failure, io.EOF) {
			failure = io.ErrUnexpectedEOF
		}
	}
	if failure != nil {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindUnavailable, "reading the artifact %s: %w", handle, failure)
	}
	return piece, nil
}

// find returns the header of an artifact of an owner.
func (s *Store) find(owner Owner, handle string) (*entry, *tool.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, tool.Errorf(tool.KindUnavailable, "reading an artifact: the store is closed")
	}
	if found := s.entries[handle]; found != nil {
		if e := found.Value.(*entry); e.Owner == owner && !s.tooOld(e, time.Now()) {
			return e, nil
		}
	}
	return nil, s.unknown(handle)
}

// unknown returns the error for a handle. It is the same for an artifact of another owner and for
// one that never existed.
func (s *Store) unknown(handle string) *tool.Error {
	const longest = 100
	if len(handle) > longest {
		handle = strings.ToValidUTF8(handle[:longest], "") + "…"
	}
	return tool.Errorf(tool.KindNotFound, "there is no artifact %q in this session: the handle is misspelt, it belongs to another session, "+
		"or it is no longer kept (for %v at most, less when artifacts are many or large); call the tool that made it again", handle, s.cfg.MaxAge)
}
