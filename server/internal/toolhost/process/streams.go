package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// streams are the standard streams of a process. Two goroutines read its pipes to their end, so
// that the process never blocks when it prints. What the process prints while it serves arrives
// through go-plugin instead. Lines from both go to out, except the first line from standard output,
// which should be the handshake: it goes to first. If the process uses pipes, its session reads
// standard output, and passes on the lines that are no messages.
type streams struct {
	out    *output
	redact redactFunc
	limit  int            // bound of a line, in bytes
	first  chan firstLine // closed without a line when the output ends
	// They split what go-plugin passes on.
	servedStdout, servedStderr *lines

	piped          bool           // standard input and output belong to a session
	stdin          *os.File       // the writing end; set by open if piped is set
	stdout, stderr *os.File       // the reading ends; set by open
	pumps          sync.WaitGroup // the goroutines that read them
}

// firstLine is the first line that a process printed.
type firstLine struct {
	text  string
	whole bool // it ended with a line end, not with the output
}

// newStreams starts the goroutine that logs the lines. close ends it.
func newStreams(cfg Config) *streams {
	s := &streams{
		out:    newOutput(cfg.Logger.With("plugin", cfg.Plugin), cfg.LinesPerSecond, cfg.LineBytes),
		redact: cfg.Redact,
		limit:  cfg.LineBytes,
		first:  make(chan firstLine, 1),
		piped:  cfg.Pipes != nil,
	}
	s.servedStdout, s.servedStderr = s.newLines(s.out.stdoutLine), s.newLines(s.out.stderrLine)
	return s
}

// newLines returns a splitter with the configured line length.
func (s *streams) newLines(emit func(line string)) *lines {
	return &lines{emit: emit, redact: s.redact, limit: s.limit}
}

// open makes the pipes. It returns the ends of the process: its standard input, output and error.
// The caller calls read if the process has started and abandon otherwise, and closes these ends.
func (s *streams) open() (ends []*os.File, err error) {
	input, err := s.openInput()
	if err != nil {
		return nil, err
	}
	stdout, stdoutW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, input.Close(), s.closeInput())
	}
	stderr, stderrW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, input.Close(), s.closeInput(), stdout.Close(), stdoutW.Close())
	}
	s.stdout, s.stderr = stdout, stderr
	return []*os.File{input, stdoutW, stderrW}, nil
}

// openInput returns the process's end of its standard input: the null device, or that of a pipe.
func (s *streams) openInput() (end *os.File, err error) {
	if !s.piped {
		return os.Open(os.DevNull)
	}
	end, s.stdin, err = os.Pipe()
	return end, err
}

// closeInput closes the writing end of standard input, if there is one.
func (s *streams) closeInput() error {
	if s.stdin == nil {
		return nil
	}
	return s.stdin.Close()
}

// closePipes closes what a session used, in case it did not.
func (s *streams) closePipes() {
	if s.piped && s.stdout != nil {
		_ = errors.Join(s.closeInput(), s.stdout.Close())
	}
}

// abandon closes the pipes of a process that was not started.
func (s *streams) abandon() error {
	return errors.Join(s.closeInput(), s.stdout.Close(), s.stderr.Close())
}

// read starts the goroutines that read the pipes. They end with the pipes, or at the deadline that
// drain sets.
func (s *streams) read() {
	if s.piped {
		close(s.first)
	} else {
		s.pumps.Go(s.pumpStdout)
	}
	s.pumps.Go(s.pumpStderr)
}

// drain waits until the pipes of a dead process are read, but at most for drainGrace.
func (s *streams) drain() {
	for _, pipe := range []*os.File{s.stdout, s.stderr} {
		_ = pipe.SetReadDeadline(time.Now().Add(drainGrace))
	}
	s.pumps.Wait()
}

// close logs the lines that are left, and waits until they are logged. go-plugin passes on nothing
// any more.
func (s *streams) close() {
	s.servedStdout.Flush()
	s.servedStderr.Flush()
	s.out.close()
}

func (s *streams) pumpStdout() {
	first, ended := true, false
	to := s.newLines(func(line string) {
		if !first {
			s.out.stdoutLine(line)
			return
		}
		first = false
		s.first <- firstLine{line, !ended} // it has room for this line
	})
	to.redact = func(line string, headless, cut bool) string {
		if first {
			return line // redaction must not change a handshake
		}
		return s.redact(line, headless, cut)
	}
	pump(s.stdout, to)
	ended = true
	to.Flush()
	close(s.first)
}

func (s *streams) pumpStderr() {
	to := s.newLines(s.out.stderrLine)
	pump(s.stderr, to)
	to.Flush()
}

// pump reads the pipe to its end as fast as it can, so that the writer never blocks.
func pump(pipe *os.File, to *lines) {
	const size = 8 << 10 // the longest kept line; each instance has two of these buffers
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{pipe}, make([]byte, size))
	_ = pipe.Close()
}
