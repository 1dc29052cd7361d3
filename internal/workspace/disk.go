package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// readRegular reads a regular file whole, never through a symlink at its last element, and never
// waits for a FIFO or a device. info is set whenever the path exists.
func readRegular(real string, limit int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(real)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(real, info, limit); err != nil {
		return nil, info, err
	}
	file, err := os.OpenFile(real, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	data, err := readOpen(file, info, limit)
	return data, info, err
}

// OpenRegular opens a file for reading, symlinks followed. What is no regular file gives
// [ErrUnsupported] and is not waited for, as the opening of a FIFO would: anything may stand where a
// file is expected.
func OpenRegular(p Path) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(string(p))
	if err == nil {
		err = regular(string(p), info, math.MaxInt64)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(string(p), os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat() // it may be another one by now
	if err == nil {
		err = regular(string(p), info, math.MaxInt64)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ReadRegular is OpenRegular and reads the file, which gives [ErrTooLarge] above limit bytes.
func ReadRegular(p Path, limit int64) ([]byte, error) {
	file, info, err := OpenRegular(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := regular(string(p), info, limit); err != nil {
		return nil, err
	}
	return readOpen(file, info, limit)
}

// readOpen reads file, which must be the one that info describes.
func readOpen(file *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(opened, info) {
		return nil, fmt.Errorf("%s was replaced while it was opened", file.Name())
	}
	// One byte more than its size shows the end of the file without growing the buffer.
	buf := make([]byte, 0, opened.Size()+1)
	for {
		if int64(len(buf)) > limit {
			return nil, fmt.Errorf("%s grew above %d bytes: %w", file.Name(), limit, ErrTooLarge)
		}
		n, err := file.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

func regular(name string, info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s: %w", name, describe(info.Mode()), ErrUnsupported)
	}
	if info.Size() > limit {
		return fmt.Errorf("%s has %d bytes, more than %d: %w", name, info.Size(), limit, ErrTooLarge)
	}
	return nil
}

func describe(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// SameFile says that two names lead to one file.
func SameFile(a, b Path) bool {
	x, err := os.Lstat(string(a))
	if err != nil {
		return false
	}
	y, err := os.Lstat(string(b))
	return err == nil && os.SameFile(x, y)
}

// CheckParent refuses a real path below something that is no folder: its longest existing parent
// must be one.
func CheckParent(real Path) error {
	for dir := real.Dir(); ; dir = dir.Dir() {
		info, err := os.Lstat(string(dir))
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is %s, not a folder: %w", dir, describe(info.Mode()), ErrUnsupported)
		}
		if err == nil || dir == dir.Dir() {
			return nil
		}
	}
}
