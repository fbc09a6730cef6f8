import { Jar } from "./jar";

export interface Shelf {
  name: string;
}

const A = 1;
const B = 2;

/**
 * Opens a shelf. function nothing() in a comment
 */
export async function openShelf(name: string): Promise<Shelf> {
  const inner = 1;
  return { name };
}

export default class Pantry<T> extends Base {
  static open(x: number) {
    if (x) {
      return x;
    }
  }
}

export const close = async (shelf: Shelf) => {
  await shelf;
};
type Id = string | number;
