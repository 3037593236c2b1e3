package audit

// Hold keeps other lines waiting until release is called.
func (l *Log) Hold() (release func()) {
	l.turn <- struct{}{}
	return func() { <-l.turn }
}
