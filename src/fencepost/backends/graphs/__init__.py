"""What a model's modules say in torch, said in ONNX. Only exporting reads this; running an exported model does not."""
