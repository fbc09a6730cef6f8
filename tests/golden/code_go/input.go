// Package larder keeps jars.
package larder

import "fmt"

const (
	top = iota
)

type Shelf struct {
	Name string
}

// Add puts a jar on the shelf.
func (s *Shelf) Add(jar string) error {
	fmt.Println(jar)
	return nil
}

func Open[T any](name string) *Shelf { return &Shelf{name} }
