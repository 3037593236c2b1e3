package audit

// Hold writes a line that takes until release is called.
func (l *Log) Hold() (release func()) {
	l.turn <- struct{}{}
	return func() { <-l.turn }
}
