package org.example.larder;

import java.util.List;

/** A shelf. */
@Entity
public final class Shelf<T extends Jar> implements Holder {
    private final List<T> jars;

    public Shelf(List<T> jars) {
        this.jars = jars;
    }

    @Override
    public Map<String, List<T>> find(String name) throws IOException {
        for (T jar : jars) {
            return null;
        }
        return new HashMap<>(name);
    }
}

enum Size { SMALL, LARGE }
