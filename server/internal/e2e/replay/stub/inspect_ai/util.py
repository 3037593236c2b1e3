from pydantic import BaseModel


class StoreModel(BaseModel):
    instance: str | None = None


def store_as(model, instance=None):
    raise RuntimeError("the benchmark gives the tools their store")
