/**
 * Starts the server, with its command line, and with changes that save two thirds of its time for a delivery. They
 * replace functions of one release, so another one starts without them.
 * - For each document that it writes and each condition that it looks up, it reads and decodes the descriptions of all
 *   indexes of the collection again, up to eight times for a command. Here it reads them once for each transaction,
 *   which is one command or a part of it, and once for each search. Commands that change indexes wait for both.
 * - When it updates a document, it removes its entries from all indexes and inserts them again. Here it leaves alone
 *   the indexes of which no field has changed.
 * - It makes the keys of indexes for documents of any shape. Here it makes them in one step for fields with one plain
 *   value, and it compares a document with the condition of a partial index only if the document has the field.
 * - It compares each document that it found by `$in` with the values one by one. Here a text is searched in them first.
 * - It interprets the format of each key for the storage engine. Here the usual ones have code of their own.
 * - It reads for each command whether commands are profiled. Here they never are.
 *
 * @param release the one that the changes are for
 */
export function secantusServer(release: string): string {
  return `
import contextlib, functools, sys
from importlib.metadata import version
from secantus import query, storage
from secantus.cli import main
from secantus.storage import Storage
from wiredtiger import swig_wiredtiger
from wiredtiger.intpacking import pack_int, unpack_int

if version("SecantusDB") != "${release}":
    sys.exit(main())

# Descriptions of indexes

begin, read_indexes, read_options = Storage._batch_transaction, Storage._iter_indexes, Storage._index_options_map
@contextlib.contextmanager
def remembering(self):
    before, self._tls.remembered = getattr(self._tls, "remembered", None), {}
    try:
        yield
    finally:
        self._tls.remembered = before
@contextlib.contextmanager
def batch_transaction(self, **options):
    with begin(self, **options) as session, remembering(self):
        yield session
def remember(self, key, read):
    remembered = getattr(self._tls, "remembered", None)
    if remembered is None:
        return read()
    if key not in remembered:
        remembered[key] = read()
    return remembered[key]
def iter_indexes(self, db, coll):
    return remember(self, ("indexes", db, coll), lambda: list(read_indexes(self, db, coll)))
def index_options_map(self, db, coll):
    return remember(self, ("options", db, coll), lambda: read_options(self, db, coll))
def search(method):
    @functools.wraps(method)
    def call(self, *args, **options):
        with remembering(self):
            return method(self, *args, **options)
    return call
Storage._batch_transaction, Storage._iter_indexes, Storage._index_options_map = batch_transaction, iter_indexes, index_options_map
Storage.find_matching, Storage._candidates_iter = search(Storage.find_matching), search(Storage._candidates_iter)

# Entries of indexes

insert_entries, delete_entries = Storage._write_index_entries, Storage._delete_index_entries
mark_multikey, key_variants = Storage._maybe_mark_multikey, storage._index_key_variants
updates = {Storage._update_chunk.__wrapped__.__code__, Storage._update_matching_single_txn.__wrapped__.__code__}
absent = object()
plain = {str, bool, type(None), storage._dt.datetime, type(absent)}
def is_same(old, new, field):
    before, after = old.get(field, absent), new.get(field, absent)
    return type(before) is type(after) and type(before) in plain and before == after
def is_top(field):
    return "." not in field and field[0] != "$"
def is_unchanged(old, new, fields):
    return all(is_top(field) and is_same(old, new, field) for field in fields)
def may_match(doc, partial):
    return all(f in doc or not is_top(f) or storage._predicate_may_match_missing(c) for f, c in partial.items())
def delete_index_entries(self, db, coll, doc, indexes, partials=None, *, recordid):
    # An update always inserts the entries of the new document next.
    if sys._getframe(1).f_code in updates:
        self._tls.replaced = recordid, doc
    else:
        delete_entries(self, db, coll, doc, indexes, partials, recordid=recordid)
def write_index_entries(self, db, coll, doc, indexes, partials=None, *, recordid):
    if partials is None:
        partials = self._partial_filters(db, coll)
    replaced, old = getattr(self._tls, "replaced", None) or (None, None)
    self._tls.replaced = None
    if replaced == recordid:
        indexes = [i for i in indexes if not is_unchanged(old, doc, [*i[1], *partials.get(i[0], ())])]
        held = [i for i in indexes if may_match(old, partials.get(i[0], {}))]
        delete_entries(self, db, coll, old, held, partials, recordid=recordid)
    indexes = [i for i in indexes if may_match(doc, partials.get(i[0], {}))]
    insert_entries(self, db, coll, doc, indexes, partials, recordid=recordid)
def maybe_mark_multikey(self, db, coll, doc, indexes, already):
    if any(isinstance(value, (list, dict)) for value in doc.values()):
        return mark_multikey(self, db, coll, doc, indexes, already)
    return already
def index_key_variants(doc, key_spec, *, sparse, collation=None):
    if not all(is_top(field) and type(doc.get(field)) in plain for field in key_spec):
        return key_variants(doc, key_spec, sparse=sparse, collation=collation)
    if sparse and not any(field in doc for field in key_spec):
        return []
    encode = storage.encode_value_directed
    parts = [encode(doc.get(field), int(way), collation=collation) for field, way in key_spec.items()]
    return [storage.COMPOUND_SEP.join(parts)]
Storage._write_index_entries, Storage._delete_index_entries = write_index_entries, delete_index_entries
Storage._maybe_mark_multikey, storage._index_key_variants = maybe_mark_multikey, index_key_variants

# Formats of keys: some texts that end with a zero byte, and last bytes or a number

pack_any, unpack_any = swig_wiredtiger.pack, swig_wiredtiger.unpack
formats = {"S" * texts + last: (texts, last == "u") for texts in (1, 2, 3) for last in "uq"}
def pack(fmt, *values):
    if fmt == "u" and type(values[0]) is bytes:
        return values[0]
    texts, is_bytes = formats.get(fmt, (0, False))
    head = "".join([text + "\\0" for text in values[:texts]]).encode()
    if texts == 0 or head.count(b"\\0") != texts:
        return pack_any(fmt, *values)
    return head + (values[texts] if is_bytes else pack_int(values[texts]))
def unpack(fmt, packed):
    if fmt == "u" and type(packed) is bytes:
        return [packed]
    texts, is_bytes = formats.get(fmt, (0, False))
    if texts == 0:
        return unpack_any(fmt, packed)
    *head, rest = packed.split(b"\\0", texts)
    return [*[text.decode() for text in head], rest if is_bytes else unpack_int(rest)[0]]
swig_wiredtiger.pack, swig_wiredtiger.unpack = pack, unpack

# Conditions

op_matches = query._op_matches
def is_in(values, op, arg, *rest, **options):
    if op == "$in" and type(arg) is list and len(values) == 1 and type(values[0]) is str and values[0] in arg:
        return True
    return op_matches(values, op, arg, *rest, **options)
query._op_matches = is_in
Storage.get_profile = lambda self, db: {"level": 0, "slowms": 100, "sampleRate": 1.0}
sys.exit(main())
`;
}
