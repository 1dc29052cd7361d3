//go:build unix

package wire

import (
	"context"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInterruptible: standard input comes as a blocking pipe, whose Read Close does not end.
func TestInterruptible(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	makeBlocking(t, r)
	var c *Conn
	began := make(chan struct{})
	c = NewConn(Interruptible(r), io.Discard, func(*Request) { close(began) }, Options{Logger: testLog(t)})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	if _, err := io.WriteString(w, `{"method":"m"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-began // the reader goes back to a Read that gets nothing
	c.Close()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// makeBlocking makes f what a child finds as its standard input.
func makeBlocking(t *testing.T, f *os.File) {
	t.Helper()
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptibleLeavesFiles: a regular file is not touched.
func TestInterruptibleLeavesFiles(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Interruptible(f) != f {
		t.Error("a regular file was copied")
	}
}
