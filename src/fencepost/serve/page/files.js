// Downloads and the clipboard.

export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const saveText = (name, text, type) => save(name, new Blob([text], {type}));

const LARGEST = 16_000; // pixels of a side, which browsers can still draw

// A picture of an SVG file, twice as sharp as on the screen where that is possible.
export async function toPng(source, width, height) {
  const address = URL.createObjectURL(new Blob([source], {type: "image/svg+xml"}));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(2, LARGEST / width, LARGEST / height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

// Copies text, also where the page isn't served by this machine and has no clipboard of its own.
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
