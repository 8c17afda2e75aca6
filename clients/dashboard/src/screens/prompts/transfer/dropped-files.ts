/** The files that were dropped, also those in folders. */
export async function droppedFiles({ items }: DataTransfer): Promise<File[]> {
  // The list is empty as soon as the event has ended.
  const dropped = [...items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const files = dropped.map(async (one) => (one instanceof File ? [one] : one === null ? [] : await filesIn(one)));
  return (await Promise.all(files)).flat();
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => {
      entry.file(resolve, reject);
    });
    return file.name.startsWith('.') ? [] : [file];
  }
  if (!isFolder(entry)) return [];
  const reader = entry.createReader();
  const files: File[] = [];
  for (;;) {
    // A folder is read in parts.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return files;
    files.push(...(await Promise.all(some.map(filesIn))).flat());
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
